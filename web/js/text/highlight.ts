// Colours in code. The library comes with the first block of code that has a language, and works when the browser is idle.

const LONG = 40_000;
let library: Promise<typeof import("./languages.ts")> | null = null;

export function highlight(node: HTMLElement, text: string, lang: string): void {
  if (!lang || text.length > LONG) return;
  library ??= import("./languages.ts");
  void library.then(({ colour }) => {
    const paint = () => {
      const parts = colour(text, lang);
      if (parts) node.replaceChildren(...parts);
    };
    if ("requestIdleCallback" in window) requestIdleCallback(paint, { timeout: 500 });
    else setTimeout(paint);
  }, () => { library = null; }); // offline: the code stays plain, the next block tries again
}
