/** The longest path that the API sends a browser back to. */
const longest = 500;

/** A page of the console as the API comes back to it; without its filters when they are too long. */
export function returnTo(path: string): string {
  const whole = `/console${path}`;
  return whole.length <= longest ? whole : (whole.split('?')[0] ?? '/console');
}
