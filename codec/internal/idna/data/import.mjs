// Generates mapping.txt, properties.txt and decomposition.txt from the packages listed in README.md:
//
//	node import.mjs NODE_MODULES < ccc.txt
//
// Standard input contains a line "HEX CCC" for each code point whose
// Canonical_Combining_Class is not 0.
import fs from "node:fs";
import path from "node:path";

const UNICODE = "17.0.0";
const MAX = 0x110000;
const modules = path.resolve(process.argv[2]);
const ucd = path.join(modules, "@unicode", `unicode-${UNICODE}`);
const hex = (c) => c.toString(16).toUpperCase().padStart(4, "0");
const values = (prop) => fs.readdirSync(path.join(ucd, prop), { withFileTypes: true }).filter((e) => e.isDirectory()).map((e) => e.name);
const points = async (name) => (await import(path.join(ucd, name, "code-points.mjs"))).default;

// column returns an array from code point to the concatenated labels of its values
// of prop.
async function column(prop, label) {
  const col = new Array(MAX).fill("");
  for (const v of values(prop).sort()) {
    const s = label(v);
    if (s === "") continue;
    for (const c of await points(`${prop}/${v}`)) col[c] += (col[c] ? "," : "") + s;
  }
  return col;
}

// ranges returns a line "FIRST[..LAST] VALUE" for each run of equal nonempty
// values.
function ranges(col) {
  let out = "";
  for (let c = 0; c < MAX; ) {
    let end = c;
    while (end + 1 < MAX && col[end + 1] === col[c]) end++;
    if (col[c] !== "") out += `${hex(c)}${end > c ? ".." + hex(end) : ""} ${col[c]}\n`;
    c = end + 1;
  }
  return out;
}

async function mapping() {
  const status = { 1: "M", 2: "V", 3: "", 6: "V", 7: "I" }; // 6, deviation, is valid in nontransitional processing
  const col = new Array(MAX).fill("");
  for (const [where, st, to] of JSON.parse(fs.readFileSync(path.join(modules, "tr46/lib/mappingTable.json"), "utf8"))) {
    const [first, last] = Array.isArray(where) ? where : [where, where];
    const v = st === 1 ? ["M", ...[...to].map((s) => hex(s.codePointAt(0)))].join(" ") : status[st];
    for (let c = first; c <= last; c++) col[c] = v;
  }
  return ranges(col);
}

const bidi = {
  Left_To_Right: "L", Right_To_Left: "R", Arabic_Letter: "AL", Arabic_Number: "AN", European_Number: "EN", European_Separator: "ES",
  Common_Separator: "CS", European_Terminator: "ET", Other_Neutral: "ON", Boundary_Neutral: "BN", Nonspacing_Mark: "NSM",
};
const joining = { Dual_Joining: "D", Right_Joining: "R", Left_Joining: "L", Join_Causing: "C", Transparent: "T" };

async function properties() {
  const bc = await column("Bidi_Class", (v) => bidi[v] ?? "-");
  const jt = await column("Joining_Type", (v) => joining[v] ?? "U");
  const scx = await column("Script_Extensions", (v) => v);
  const ccc = new Array(MAX).fill("0");
  for (const line of fs.readFileSync(0, "utf8").trim().split("\n")) {
    const [c, n] = line.split(" ");
    ccc[parseInt(c, 16)] = n;
  }
  const flags = new Array(MAX).fill("");
  for (const [name, letter] of [
    ["General_Category/Mark", "M"], ["Binary_Property/Default_Ignorable_Code_Point", "D"], ["Binary_Property/White_Space", "W"],
    ["Binary_Property/Bidi_Control", "B"], ["Binary_Property/Noncharacter_Code_Point", "N"],
  ]) for (const c of await points(name)) flags[c] += letter;
  const unassigned = new Set(await points("General_Category/Unassigned"));
  const col = bc.map((b, c) => (unassigned.has(c) && flags[c] === "" ? "" : [b || "-", jt[c] || "U", ccc[c], flags[c] || "-", scx[c] || "-"].join(" ")));
  return ranges(col);
}

async function decomposition() {
  const { default: map } = await import(path.join(ucd, "Decomposition_Mapping/Canonical/code-points.mjs"));
  const full = new Set(await points("Binary_Property/Full_Composition_Exclusion"));
  let out = "";
  for (const [c, to] of [...map].sort((a, b) => a[0] - b[0])) {
    if (c >= 0xac00 && c <= 0xd7a3) continue; // Hangul syllables are composed arithmetically
    const seq = [to].flat().map(hex).join(" ");
    out += `${hex(c)} ${full.has(c) ? "X" : "C"} ${seq}\n`;
  }
  return out;
}

const write = (name, body) => fs.writeFileSync(new URL(name, import.meta.url), `# Unicode ${UNICODE}\n` + body);
write("mapping.txt", await mapping());
write("properties.txt", await properties());
write("decomposition.txt", await decomposition());
