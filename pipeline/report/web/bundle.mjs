// node bundle.mjs NODE_MODULES OUTPUT: the chart libraries as one script that can stand inside a page.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [modules, output] = process.argv.slice(2);
const parts = [];
for (const name of ['vega', 'vega-lite', 'vega-embed']) {
  const { version } = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'));
  const license = readFileSync(join(modules, name, 'LICENSE'), 'utf8').trim().replaceAll('*/', '* /');
  const script = readFileSync(join(modules, name, 'build', `${name}.min.js`), 'utf8');
  // A page has no source maps beside it, and only `<\/script` may appear inside a script element.
  const inlined = script.replace(/^\/\/# sourceMappingURL=.*$/m, '').replace(/<(?=\/script|!--)/gi, '\\x3c');
  parts.push(`/*! ${name} ${version}\n${license} */\n${inlined.trim()}\n`);
}
writeFileSync(`${output}.tmp`, parts.join(';\n'));
renameSync(`${output}.tmp`, output);
