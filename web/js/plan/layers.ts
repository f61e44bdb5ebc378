// Where the tasks of a plan stand in its picture: layer under layer, those that wait for others below them.

import dagre from "@dagrejs/dagre";

export type Drawn = { width: number; height: number; nodes: { id: string; x: number; y: number }[]; edges: string[] };

export function layOut(tasks: Task[], wide: number, high: number): Drawn {
  const graph = new dagre.graphlib.Graph().setGraph({ rankdir: "TB", nodesep: 16, ranksep: 32, marginx: 2, marginy: 2 });
  graph.setDefaultEdgeLabel(() => ({}));
  const ids = new Set(tasks.map((task) => task.id));
  for (const { id } of tasks) graph.setNode(id, { width: wide, height: high });
  for (const { id, depends_on: needed } of tasks) for (const before of needed ?? []) if (ids.has(before)) graph.setEdge(before, id);
  dagre.layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const edges = graph.edges().map((edge) => bend(graph.node(edge.v), passed(graph.edge(edge).points), graph.node(edge.w), high));
  return { width, height, edges, nodes: tasks.map(({ id }) => ({ id, x: graph.node(id).x - wide / 2, y: graph.node(id).y - high / 2 })) };
}

/** The points between two tasks that are not in layers next to each other: the ends, and what is beside them, are not. */
const passed = (points: Point[]) => (points.length > 3 ? points.slice(2, -2) : []);

type Point = { x: number; y: number };

/** A line from below one task to above another, upright at both ends and where it passes the tasks between them. */
function bend(from: Point, passed: Point[], to: Point, high: number): string {
  const stops = [{ x: from.x, y: from.y + high / 2 }, ...passed, { x: to.x, y: to.y - high / 2 }];
  return stops.slice(1).reduce((path, { x, y }, at) => {
    const middle = (stops[at].y + y) / 2;
    return `${path}C${stops[at].x},${middle} ${x},${middle} ${x},${y}`;
  }, `M${stops[0].x},${stops[0].y}`);
}
