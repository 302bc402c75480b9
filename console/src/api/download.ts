import { errorOf } from './errors';
import { sessionFetch } from './transport';

/**
 * Reads a file and hands it to the browser. It goes through the session as every request does, so that a fresh code can be asked
 * for; `progress` gets how many bytes have come. `accept` is the form of an answer that has several.
 */
export async function downloadFile(
  address: string,
  fallbackName: string,
  progress: (bytes: number) => void,
  accept?: string,
): Promise<number> {
  const response = await sessionFetch(
    new Request(address, accept === undefined ? {} : { headers: { Accept: accept } }),
  );
  if (!response.ok) throw errorOf(response, await response.json().catch(() => null));
  const parts: BlobPart[] = [];
  let bytes = 0;
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    parts.push(part.value);
    bytes += part.value.length;
    progress(bytes);
  }
  const blob = new Blob(parts, { type: response.headers.get('Content-Type') ?? '' });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = /filename="?([^";]+)/.exec(response.headers.get('Content-Disposition') ?? '')?.[1] ?? fallbackName;
  link.click();
  URL.revokeObjectURL(link.href);
  return bytes;
}
