// The elements of the first load, by name.

import { ChatComposer } from "./chat-composer.ts";
import { ChatLog } from "./chat-log.js";
import { ConfirmCards } from "./confirm-cards.js";
import { LiveRegion } from "./live-region.js";
import { LoginForm } from "./login-form.js";
import { PaneTabs } from "./pane-tabs.js";
import { QueueBar } from "./queue-bar.js";
import { ReplayBar } from "./replay-bar.js";
import { SessionList } from "./session-list.ts";
import { SidePanel } from "./side-panel.js";
import { StartPage } from "./start-page.ts";
import { TimeLine } from "./time-line.js";
import { ToastStack } from "./toast-stack.js";
import { TopBar } from "./top-bar.js";

/** @type {Record<string, CustomElementConstructor>} names are written out: the build shortens those of classes */
const ELEMENTS = {
  "chat-composer": ChatComposer, "chat-log": ChatLog, "confirm-cards": ConfirmCards,
  "live-region": LiveRegion, "login-form": LoginForm,
  "pane-tabs": PaneTabs, "queue-bar": QueueBar, "replay-bar": ReplayBar, "session-list": SessionList,
  "side-panel": SidePanel, "start-page": StartPage, "time-line": TimeLine,
  "toast-stack": ToastStack, "top-bar": TopBar,
};
for (const [name, element] of Object.entries(ELEMENTS)) customElements.define(name, element);
