// A menu beside the button that opened it: arrow keys, Esc, and the focus goes back to where it was.

import { h } from "./dom.js";
import { icon } from "./icons.js";

export type Choice = { label: string; icon?: string; key?: string; isBad?: boolean; isChecked?: boolean; run: () => void };

export function openMenu(anchor: HTMLElement, choices: Choice[], label: string): void {
  document.querySelector(".menu:popover-open")?.remove();
  const menu = h("div", { class: "menu", popover: "auto", role: "menu", "aria-label": label, onkeydown: (event) => step(menu, event) },
    ...choices.map((choice) => h("button", {
      role: choice.isChecked === undefined ? "menuitem" : "menuitemradio", "aria-checked": choice.isChecked === undefined ? null : String(choice.isChecked), class: choice.isBad ? "danger" : "",
      onclick: () => { menu.hidePopover(); choice.run(); },
    }, icon(choice.isChecked ? "check" : choice.icon ?? "right"), choice.label, choice.key ? h("kbd", { text: choice.key }) : null)));
  menu.addEventListener("toggle", (event) => {
    if ((event as ToggleEvent).newState !== "closed") return;
    anchor.setAttribute("aria-expanded", "false");
    if (menu.contains(document.activeElement) || document.activeElement === document.body) anchor.focus();
    menu.remove();
  });
  (anchor.closest("dialog, nav, main, aside, header") ?? document.body).append(menu); // what is outside of an open dialog cannot be clicked
  menu.showPopover();
  anchor.setAttribute("aria-expanded", "true");
  const at = anchor.getBoundingClientRect(), { offsetWidth, offsetHeight } = menu;
  const isUp = at.bottom + offsetHeight + 8 > innerHeight && at.top > offsetHeight;
  Object.assign(menu.style, {
    left: `${Math.max(8, Math.min(at.left, innerWidth - offsetWidth - 8))}px`, top: `${isUp ? at.top - offsetHeight - 4 : Math.min(at.bottom + 4, innerHeight - offsetHeight - 8)}px`,
  });
  menu.querySelector<HTMLElement>("[aria-checked=true], button")?.focus();
}

function step(menu: HTMLElement, event: KeyboardEvent): void {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Escape") { // it closes the menu, and nothing else
    event.preventDefault();
    event.stopPropagation();
    menu.hidePopover();
  }
  if (!by) return;
  event.preventDefault();
  const buttons = [...menu.querySelectorAll("button")], now = buttons.indexOf(document.activeElement as HTMLButtonElement);
  buttons[(now + by + buttons.length) % buttons.length].focus();
}
