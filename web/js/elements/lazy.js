// The parts that are not in the first load, as one file: what they share with the page is one file then, too.

import { ChangesPanel } from "./changes-panel.ts";
import { CommandPalette } from "./command-palette.js";
import { DemoBar } from "./demo-bar.ts";
import { HelpDialog } from "./help-dialog.js";
import { JobBoard } from "./job-board.js";
import { PlanEditor } from "./plan-editor.js";
import { PlanGraph } from "./plan-graph.ts";
import { PlanTime } from "./plan-time.ts";
import { RenameDialog } from "./rename-dialog.js";
import { SettingsDialog } from "./settings-dialog.ts";
import { ShareDialog } from "./share-dialog.ts";
import { StateMap } from "./state-map.js";
import { TaskBoard } from "./task-board.js";
import { TeamEditor } from "./team-editor.ts";
import { TeamPanel } from "./team-panel.ts";

export { details } from "./event-details.js";

/** @type {Record<string, CustomElementConstructor>} */
export const LAZY = {
  "changes-panel": ChangesPanel, "command-palette": CommandPalette, "demo-bar": DemoBar, "help-dialog": HelpDialog, "job-board": JobBoard, "plan-editor": PlanEditor, "plan-graph": PlanGraph, "plan-time": PlanTime, "rename-dialog": RenameDialog,
  "settings-dialog": SettingsDialog, "share-dialog": ShareDialog, "state-map": StateMap, "task-board": TaskBoard, "team-editor": TeamEditor, "team-panel": TeamPanel,
};
