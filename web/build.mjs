// Makes the page: bundles js/ and css/, minifies them and writes the result, ready to be served, into the package.
//   node build.mjs [--watch] FOLDER     with --watch: builds again at every change, with source maps

import { cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { context } from "esbuild";

const here = import.meta.dirname;
const isWatching = process.argv.includes("--watch");
const wanted = process.argv.slice(2).find((each) => !each.startsWith("--")) ?? join(here, "..", "src", "moot", "web");
const folder = isWatching ? wanted : `${wanted}.new`; // a build that fails leaves the page as it was

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const making = await context({
  absWorkingDir: here,
  entryPoints: ["js/main.js", "js/sw.js", "css/main.css", "css/lazy.css"],
  outdir: folder,
  outbase: ".",
  bundle: true,
  splitting: true, // what is loaded lazily is a file of its own
  format: "esm",
  target: "es2022",
  minify: !isWatching,
  sourcemap: isWatching,
  alias: { // what markdown-it has and the page does not use: writing entities, guessing addresses
    entities: "entities/lib/decode.js", "linkify-it": "./js/text/no-linkify.js",
  },
  legalComments: "none", // LICENSES.txt has them
  chunkNames: "js/[name]-[hash]",
  metafile: true,
  logLevel: "warning",
});
const { metafile } = await making.rebuild();
await cp(join(here, "static"), folder, { recursive: true });
await writeFile(join(folder, "index.html"), await indexPage(metafile));
await writeFile(join(folder, "LICENSES.txt"), await licenses(metafile));
if (isWatching) {
  await making.watch();
  console.log("watching");
} else {
  await making.dispose();
  await Promise.all(Object.keys(metafile.outputs).map(pack));
  await rm(wanted, { recursive: true, force: true });
  await rename(folder, wanted);
}

/** The document. What the script imports is fetched along with it, not after it. */
async function indexPage({ outputs }) {
  const main = Object.values(outputs).find(({ entryPoint }) => entryPoint === "js/main.js");
  const preloads = main.imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => `<link rel="modulepreload" href="/static/${relative(folder, join(here, path))}">\n`);
  return (await readFile(join(here, "index.html"), "utf8")).replace("<script", `${preloads.join("")}<script`);
}

async function pack(path) {
  const file = join(here, path);
  await writeFile(`${file}.br`, brotliCompressSync(await readFile(file)));
}

/** The licences of the libraries that are in the page. */
async function licenses({ inputs }) {
  const names = new Set(Object.keys(inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]).filter(Boolean));
  const texts = [...names].sort().map(async (name) => {
    const root = join(here, "node_modules", name), { version, license } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    const text = await Promise.any(["LICENSE", "LICENSE.md", "LICENSE.txt", "license"].map((file) => readFile(join(root, file), "utf8"))).catch(() => "");
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  });
  return (await Promise.all(texts)).join(`\n${"-".repeat(72)}\n\n`);
}
