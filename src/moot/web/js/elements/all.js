// Every element of the page, by name.

import { ChatComposer } from "./chat-composer.js";
import { ChatLog } from "./chat-log.js";
import { CommandPalette } from "./command-palette.js";
import { ConfirmCards } from "./confirm-cards.js";
import { HelpDialog } from "./help-dialog.js";
import { JobBoard } from "./job-board.js";
import { LiveRegion } from "./live-region.js";
import { LoginForm } from "./login-form.js";
import { NewSession } from "./new-session.js";
import { PaneTabs } from "./pane-tabs.js";
import { PlanEditor } from "./plan-editor.js";
import { QueueBar } from "./queue-bar.js";
import { ReplayBar } from "./replay-bar.js";
import { SessionList } from "./session-list.js";
import { SidePanel } from "./side-panel.js";
import { StateMap } from "./state-map.js";
import { TaskBoard } from "./task-board.js";
import { TimeLine } from "./time-line.js";
import { ToastStack } from "./toast-stack.js";
import { TopBar } from "./top-bar.js";

const ELEMENTS = {
  "chat-composer": ChatComposer, "chat-log": ChatLog, "command-palette": CommandPalette, "confirm-cards": ConfirmCards,
  "help-dialog": HelpDialog, "job-board": JobBoard, "live-region": LiveRegion, "login-form": LoginForm, "new-session": NewSession,
  "pane-tabs": PaneTabs, "plan-editor": PlanEditor, "queue-bar": QueueBar, "replay-bar": ReplayBar,
  "session-list": SessionList, "side-panel": SidePanel, "state-map": StateMap, "task-board": TaskBoard,
  "time-line": TimeLine, "toast-stack": ToastStack, "top-bar": TopBar,
};

for (const [name, element] of Object.entries(ELEMENTS)) customElements.define(name, element);
