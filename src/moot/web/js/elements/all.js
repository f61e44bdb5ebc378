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
import { StartPage } from "./start-page.js";
import { StateMap } from "./state-map.js";
import { TaskBoard } from "./task-board.js";
import { TimeLine } from "./time-line.js";
import { ToastStack } from "./toast-stack.js";
import { TopBar } from "./top-bar.js";

// TimeLine is <time-line>
for (const element of [
  ChatComposer, ChatLog, CommandPalette, ConfirmCards, HelpDialog, JobBoard, LiveRegion, LoginForm, NewSession,
  PaneTabs, PlanEditor, QueueBar, ReplayBar, SessionList, SidePanel, StartPage, StateMap, TaskBoard, TimeLine, ToastStack,
  TopBar,
]) customElements.define(element.name.replace(/\B[A-Z]/g, "-$&").toLowerCase(), element);
