const browsers: [string, RegExp][] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:HeadlessChrome|Chrome|CriOS)\//],
  ['Safari', /\bVersion\/\S+ .*Safari\//],
];

const systems: [string, RegExp][] = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
];

const find = (list: [string, RegExp][], text: string) => list.find(([, pattern]) => pattern.test(text))?.[0];

/** What people call the device that sends this `User-Agent`: `Chrome · Windows`; what is not known stays as it is. */
export function deviceOf(userAgent: string): string {
  const known = [find(browsers, userAgent), find(systems, userAgent)].filter((part) => part !== undefined);
  return known.length > 0 ? known.join(' · ') : userAgent.slice(0, 60);
}
