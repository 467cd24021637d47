// node page_test.mjs SAMPLE_PAGE CHROMIUM PICTURES: opens the report page in headless Chromium, light and dark, wide and
// narrow, and checks that every chart is drawn, that nothing is logged as an error, that nothing is fetched and that
// the page does not scroll sideways. Leaves a picture of each. Exit code 77: skipped.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [samplePage, chromium, pictures] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'tunemix-report-'));
const failures = [];
const check = (condition, message) => { if (!condition) failures.push(message); };

function makePage(name, ...options) {
  const file = join(scratch, name);
  const made = spawnSync(samplePage, [file, ...options], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`sample_page failed: ${made.stderr}`);
  return { url: pathToFileURL(file).href, charts: made.stdout.trim() === 'charts' };
}

// The DevTools protocol over a pipe: messages are JSON ended by a zero byte on file descriptors 3 and 4.
class Browser {
  constructor() {
    this.process = spawn(chromium, [
      '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--hide-scrollbars', '--remote-debugging-pipe',
      `--user-data-dir=${join(scratch, 'profile')}`, 'about:blank',
    ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    this.waiting = new Map();
    this.listeners = [];
    this.next = 1;
    let rest = '';
    this.process.stdio[4].setEncoding('utf8').on('data', (text) => {
      const messages = (rest + text).split('\0');
      rest = messages.pop();
      for (const message of messages) this.receive(JSON.parse(message));
    });
    this.ended = new Promise((resolve) => this.process.on('exit', resolve));
  }

  receive(message) {
    const waiting = this.waiting.get(message.id);
    if (!waiting) return this.listeners.forEach((listener) => listener(message));
    this.waiting.delete(message.id);
    if (message.error) waiting.reject(new Error(message.error.message));
    else waiting.resolve(message.result);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = this.next++;
    this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }
}

async function openPage(browser, url, { width, height, scheme, scripts = true }) {
  const { targetId } = await browser.send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
  const page = { errors: [], requests: [], send: (method, params) => browser.send(method, params, sessionId) };
  browser.listeners.push((message) => {
    if (message.sessionId !== sessionId) return;
    const { method, params } = message;
    if (method === 'Runtime.exceptionThrown') page.errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(params.type))
      page.errors.push(params.args.map((a) => a.value ?? a.description).join(' '));
    if (method === 'Log.entryAdded' && params.entry.level === 'error') page.errors.push(params.entry.text);
    if (method === 'Network.requestWillBeSent' && !/^(file|data|about):/.test(params.request.url)) page.requests.push(params.request.url);
  });
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await page.send(`${domain}.enable`);
  await page.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 });
  await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
  await page.send('Emulation.setScriptExecutionDisabled', { value: !scripts });
  const loaded = new Promise((done) => browser.listeners.push((m) => { if (m.sessionId === sessionId && m.method === 'Page.loadEventFired') done(); }));
  await page.send('Page.navigate', { url });
  await loaded;
  page.evaluate = async (expression) => {
    const { result, exceptionDetails } = await page.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  page.drawn = () => page.evaluate(`new Promise((done, fail) => {
    const started = Date.now();
    (function look() {
      const root = document.documentElement;
      if (document.readyState === 'complete' && root.dataset.charts) return done(root.dataset.charts);
      if (Date.now() - started > 40000) return fail(new Error('the charts were not drawn in time'));
      setTimeout(look, 50);
    })();
  })`);
  page.picture = async (file) => {
    const { cssContentSize } = await page.send('Page.getLayoutMetrics');
    const { data } = await page.send('Page.captureScreenshot', {
      captureBeyondViewport: true, clip: { x: 0, y: 0, width, height: Math.ceil(cssContentSize.height), scale: 1 },
    });
    writeFileSync(file, Buffer.from(data, 'base64'));
  };
  page.close = () => browser.send('Target.closeTarget', { targetId });
  return page;
}

// Every chart place holds one picture with marks in it, and everything fits the width of the page.
async function checkPage(page, name) {
  const [drawn, places] = (await page.drawn()).split('/').map(Number);
  check(places >= 15 && drawn === places, `${name}: ${drawn} of ${places} charts drawn`);
  const found = await page.evaluate(`({
    errors: document.documentElement.dataset.chartErrors,
    empty: [...document.querySelectorAll('.chart')].filter((c) => {
      const marks = c.querySelectorAll('svg .mark-symbol path, svg .mark-rect path, svg .mark-line path, svg .mark-rule line');
      return !c.querySelector('canvas') && marks.length === 0;
    }).map((c) => c.dataset.chart),
    wide: [...document.querySelectorAll('.chart')].filter((c) => (c.querySelector('svg, canvas')?.getBoundingClientRect().width ?? 0) > c.clientWidth + 1)
      .map((c) => c.dataset.chart),
    sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    background: getComputedStyle(document.body).backgroundColor,
  })`);
  check(found.errors === '', `${name}: ${found.errors}`);
  check(found.empty.length === 0, `${name}: no marks in ${found.empty}`);
  check(found.wide.length === 0, `${name}: wider than its place: ${found.wide}`);
  check(found.sideways <= 0, `${name}: the page scrolls sideways by ${found.sideways} px`);
  return found;
}

// With scripts off there are tables to read, and no empty places where charts would be.
async function checkWithoutScripts(page) {
  const found = await page.evaluate(`({
    tables: [...document.querySelectorAll('table')].filter((t) => t.checkVisibility()).length,
    hidden: [...document.querySelectorAll('table')].filter((t) => !t.checkVisibility()).length,
    places: [...document.querySelectorAll('.chart, #theme')].filter((c) => c.checkVisibility()).length,
    scripted: document.documentElement.classList.contains('scripted'),
  })`);
  check(!found.scripted, 'scripts were not off');
  check(found.tables >= 20 && found.hidden === 0, `without scripts ${found.tables} tables can be seen, ${found.hidden} cannot`);
  check(found.places === 0, `without scripts ${found.places} empty places can be seen`);
}

// Changes every picker once and presses every chip: all charts must still be there.
async function usePickers(page, name) {
  const count = await page.evaluate(`(async () => {
    const wait = () => new Promise((done) => { (function look() { document.documentElement.dataset.charts ? done() : setTimeout(look, 20); })(); });
    const selects = [...document.querySelectorAll('.controls select')];
    for (const select of selects) {
      select.selectedIndex = select.options.length - 1;
      select.dispatchEvent(new Event('change'));
      await wait();
    }
    for (const chip of document.querySelectorAll('.chips button:not([hidden])')) { chip.click(); await wait(); }
    return selects.length;
  })()`);
  check(count >= 8, `${name}: ${count} pickers`);
  await checkPage(page, `${name} after using the pickers`);
}

async function main() {
  const small = makePage('small.html');
  if (!small.charts) {
    console.log('Skipped: the program was built without charts');
    return 77;
  }
  mkdirSync(pictures, { recursive: true });
  const browser = new Browser();
  const backgrounds = {};
  try {
    for (const [device, width, height] of [['desktop', 1280, 900], ['phone', 390, 844]]) {
      for (const scheme of ['light', 'dark']) {
        const name = `${device}-${scheme}`;
        const page = await openPage(browser, small.url, { width, height, scheme });
        backgrounds[name] = (await checkPage(page, name)).background;
        await page.picture(join(pictures, `${name}.png`));
        if (device === 'desktop' && scheme === 'light') {
          await usePickers(page, name);
          await page.evaluate(`document.getElementById('theme').click()`);
          backgrounds.toggled = (await checkPage(page, 'toggled')).background;
        }
        check(page.errors.length === 0, `${name}: console: ${page.errors.join(' | ')}`);
        check(page.requests.length === 0, `${name}: fetched ${page.requests}`);
        await page.evaluate('localStorage.clear()');
        await page.close();
      }
    }
    check(backgrounds['desktop-light'] !== backgrounds['desktop-dark'], 'light and dark look the same');
    check(backgrounds.toggled === backgrounds['desktop-dark'], 'the switch does not turn the page dark');
    const large = await openPage(browser, makePage('large.html', '167').url, { width: 1280, height: 900, scheme: 'light' });
    await checkPage(large, '20 000 members');
    check(large.errors.length === 0, `20 000 members: console: ${large.errors.join(' | ')}`);
    await checkWithoutScripts(await openPage(browser, small.url, { width: 390, height: 844, scheme: 'light', scripts: false }));
  } finally {
    browser.send('Browser.close').catch(() => {});
    await Promise.race([browser.ended, new Promise((done) => setTimeout(done, 5000))]);
    browser.process.kill('SIGKILL');  // does nothing where it has ended by itself
  }
  for (const failure of failures) console.error(failure);
  return failures.length === 0 ? 0 : 1;
}

let code = 1;
try {
  code = await main();
} catch (error) {
  console.error(error);
} finally {
  // Chromium's helpers may still be writing into the profile: try for a while.
  rmSync(scratch, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
}
process.exit(code);
