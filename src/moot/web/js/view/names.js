// What members are called.

/** @param {View | null | undefined} view @param {string | null | undefined} id */
export const nameOf = (view, id) => view?.members.find((each) => each.id === id)?.display_name ?? id ?? "";

/** Who plays a role of the flow. @param {View} view @param {string} role */
export const roleName = (view, role) => view.members.find((each) => each.role === role)?.display_name ?? role;

/** `ben#2` works beside `ben#1`: Ben 2. @param {View} view @param {string} agentId */
export function slotName(view, agentId) {
  const [id, number] = agentId.split("#");
  return nameOf(view, id) + (Number(number) > 1 ? ` ${number}` : "");
}
