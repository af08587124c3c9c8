// Call a function of a tool for each value, as call_function.py does:
//
//     node call_function.js SETUP EXPRESSION lines|pairs FOLDER
//
// FOLDER is where the tool is installed.
const { createRequire } = require("module");
const { createInterface } = require("readline");

const [setup, expression, form, folder] = process.argv.slice(2);
const print = process.stdout.write.bind(process.stdout);
process.stdout.write = () => true; // a tool may print, too

const make = new Function("require", `${setup}\nreturn (text, country) => (${expression});`);
const call = make(createRequire(`${folder}/`));

function digestOf(text, country) {
  try {
    const found = call(text, country);
    return typeof found === "string" ? found : "";
  } catch {
    return "";
  }
}

createInterface({ input: process.stdin, crlfDelay: Infinity }).on("line", (line) => {
  const [text, country] = form === "pairs" ? JSON.parse(line) : [line, null];
  const digest = digestOf(text, country);
  print(`${form === "pairs" ? JSON.stringify(digest || null) : digest}\n`);
});
