import type { components } from '@/gen/schema';

type Body = components['schemas']['ErrorAnswer'];

/** What the API answered instead of what was asked for. `message` is for people, in their language. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** Messages by field, in the language of the page. */
    readonly fields: Record<string, string[]> = {},
    readonly requestId: string | null = null,
  ) {
    super(message);
  }

  /** Whether the request may have had its effect all the same. */
  get outcomeUnknown(): boolean {
    return this.status >= 500 || [408, 425].includes(this.status) || this.code === 'IDEMPOTENCY_KEY_IN_PROGRESS';
  }

  /** Whether it was answered before the request was looked at: an earlier try with the same key may have had its effect. */
  get saysNothing(): boolean {
    return this.outcomeUnknown || [401, 403, 429].includes(this.status);
  }
}

/** No answer came: the connection is gone, or the service is. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/** Whether a request that ended with this error may have been carried out. */
export function outcomeUnknown(error: unknown): boolean {
  return error instanceof NoAnswer || (error instanceof ApiError && error.outcomeUnknown);
}

const isBody = (body: unknown): body is Body =>
  typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'object';

/** Whether it is still unknown after this error what became of an earlier try. */
export function stillUnknown(error: unknown): boolean {
  return error instanceof NoAnswer || (error instanceof ApiError && error.saysNothing);
}

/** The error of an answer that is not 2xx. */
export function errorOf(response: Response, body: unknown): ApiError {
  const requestId = response.headers.get('X-Request-Id');
  if (!isBody(body))
    return new ApiError(response.status, `HTTP_${String(response.status)}`, response.statusText, {}, requestId);
  const { code, message, details, ui_message, ui_details } = body.error;
  return new ApiError(response.status, code, ui_message ?? message, ui_details ?? details ?? {}, requestId);
}
