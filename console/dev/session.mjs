// Stands in front of an API that knows bearer tokens only and gives it the session by cookie that the console needs: it keeps the
// tokens, and adds them to the requests. For development and tests on this machine; nothing of it is in the built console.
//
//   node dev/session.mjs [--api http://127.0.0.1:8080] [--listen 8181]
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    api: { type: 'string', default: process.env.RIHLA_URL ?? 'http://127.0.0.1:8080' },
    listen: { type: 'string', default: '8181' },
  },
});
const api = new URL(values.api);
const name = 'rihla_dev_session';

/** Tokens by session. */
const sessions = new Map();

const bodyOf = async (request) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
};

const sessionOf = (request) => new RegExp(`${name}=([0-9a-f-]+)`).exec(request.headers.cookie ?? '')?.[1] ?? '';

const post = (path, body, language) =>
  fetch(new URL(path, api), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Accept-Language': language ?? 'ar' },
    body: JSON.stringify(body),
  });

const answer = (response, status, body, headers = {}) => {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', ...headers });
  response.end(body);
};

const refused = JSON.stringify({
  error: { code: 'INVALID_CREDENTIALS', message: 'No session.', ui_message: 'No session.' },
});

/** Answers log-in, refresh and log-out; everything else goes through. */
const accounts = {
  async '/api/v1/auth/login'(request, response) {
    const given = await post(
      '/api/v1/auth/login',
      JSON.parse(await bodyOf(request)),
      request.headers['accept-language'],
    );
    const text = await given.text();
    if (!given.ok) return answer(response, given.status, text);
    const id = randomUUID();
    sessions.set(id, JSON.parse(text).data);
    return open(response, id);
  },
  async '/api/v1/auth/refresh'(request, response) {
    const id = sessionOf(request);
    const tokens = sessions.get(id);
    if (!tokens) return answer(response, 401, refused);
    const given = await post('/api/v1/auth/refresh', { refresh_token: tokens.refresh_token });
    const text = await given.text();
    if (!given.ok) return answer(response, given.status, text);
    sessions.set(id, JSON.parse(text).data);
    return open(response, id);
  },
  async '/api/v1/auth/logout'(request, response) {
    const tokens = sessions.get(sessionOf(request));
    sessions.delete(sessionOf(request));
    if (tokens) await post('/api/v1/auth/logout', { refresh_token: tokens.refresh_token });
    response.writeHead(204, { 'Set-Cookie': `${name}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0` });
    response.end();
  },
};

const open = (response, id) => {
  const { expires_in, user } = sessions.get(id);
  const data = { access_token: '', refresh_token: '', token_type: 'Cookie', expires_in, user, session_id: id };
  answer(response, 200, JSON.stringify({ data }), { 'Set-Cookie': `${name}=${id}; HttpOnly; SameSite=Strict; Path=/` });
};

/** What the API of today does not know is answered as an installation without single sign-on answers. */
const noSingleSignOn = JSON.stringify({ data: { enabled: false } });

const pass = (request, response) => {
  const headers = { ...request.headers, host: api.host };
  const tokens = sessions.get(sessionOf(request));
  if (tokens) headers.authorization = `Bearer ${tokens.access_token}`;
  delete headers.cookie;
  const onward = http.request(new URL(request.url, api), { method: request.method, headers }, (given) => {
    response.writeHead(given.statusCode, given.headers);
    given.pipe(response);
  });
  onward.on('error', () => (response.headersSent ? response.destroy() : answer(response, 502, refused)));
  response.on('close', () => onward.destroy());
  request.pipe(onward);
};

http
  .createServer((request, response) => {
    const write = request.method !== 'GET' && request.method !== 'HEAD';
    if (write && request.headers['x-session'] !== 'cookie') return answer(response, 403, refused);
    if (request.url === '/api/v1/auth/oidc') return answer(response, 200, noSingleSignOn);
    const handler = write ? accounts[request.url] : undefined;
    return handler ? handler(request, response).catch(() => answer(response, 502, refused)) : pass(request, response);
  })
  .listen(Number(values.listen), '127.0.0.1', () =>
    console.log(`sessions of ${api} at http://127.0.0.1:${values.listen}`),
  );
