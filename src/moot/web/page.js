// Says that the server runs and lists its sessions. Text from sessions reaches the page only through textContent.

const byId = (id) => document.getElementById(id);

/** @param {string} path @param {object} [body] */
const post = (path, body) =>
  fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body ?? {}) });

/** The token in the fragment is exchanged for a cookie and leaves the address bar at once. */
async function login(token) {
  const answer = await post("/api/login", { token });
  byId("state").textContent = answer.ok ? "The server runs." : "This token is not valid (any more).";
}

async function show() {
  const answer = await fetch("/api/sessions");
  byId("login").hidden = answer.ok;
  byId("sessions").hidden = !answer.ok;
  if (!answer.ok) return;
  const sessions = await answer.json();
  byId("list").replaceChildren(...sessions.map(line));
  if (sessions.length === 0) byId("list").append(line({ title: "No session yet", status: "" }));
}

function line(session) {
  const item = document.createElement("li");
  const waiting = session.waiting_for ? `waiting for ${session.waiting_for}` : session.status;
  for (const text of [session.title || session.session_id, session.team ?? "", waiting]) {
    item.append(Object.assign(document.createElement("span"), { textContent: text }));
  }
  return item;
}

byId("login").addEventListener("submit", async (event) => {
  event.preventDefault();
  await login(byId("token").value);
  byId("token").value = "";
  await show();
});
byId("logout").addEventListener("click", async () => {
  await post("/api/logout");
  await show();
});

const token = new URLSearchParams(location.hash.slice(1)).get("token");
if (token) {
  history.replaceState(null, "", location.pathname);
  await login(token);
}
await show();
