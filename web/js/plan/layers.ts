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
  const edges = graph.edges().map((edge) => bend(graph.edge(edge).points));
  return { width, height, edges, nodes: tasks.map(({ id }) => ({ id, x: graph.node(id).x - wide / 2, y: graph.node(id).y - high / 2 })) };
}

/** A line through the points that is round at each of them. */
function bend(points: { x: number; y: number }[]): string {
  const [first, ...rest] = points, last = rest.pop() ?? first;
  const turns = rest.map(({ x, y }, at) => { const next = rest[at + 1] ?? last; return `Q${x},${y} ${(x + next.x) / 2},${(y + next.y) / 2}`; });
  return `M${first.x},${first.y}${turns.join("")}L${last.x},${last.y}`;
}
