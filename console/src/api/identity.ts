// Operations of sessions, second factors and accounts, by the names that pages know them by.
import { answered, api, type Schemas } from './client';
import { forgetSignedIn, rememberSignedIn } from './session';

export type Role = Schemas['Role'];
export type Me = Schemas['OwnAccount'];
/** In, or a code is needed first. */
export type LogIn = (Schemas['Tokens'] & { mfa_required?: never }) | Schemas['SecondFactorNeeded'];
export type Session = Schemas['OpenSession'];
export type Enrolment = Schemas['NewSecondFactor'];
export type UserState = Schemas['AccountState'];
export type ManagedUser = Schemas['Account'];
export type NewUser = Schemas['UserInvitation'];
export type UserChange = Schemas['UserPatch'];

const dataOf = async <T>(answer: Promise<{ data: T }>): Promise<T> => (await answer).data;

/** Who has a session is remembered at once: it may end before the first page has asked whose it is. */
const remembered = (answer: LogIn): LogIn => {
  if (!answer.mfa_required) rememberSignedIn();
  return answer;
};

export const logIn = async (email: string, password: string): Promise<LogIn> =>
  remembered(await dataOf(answered(api.POST('/api/v1/auth/login', { body: { email, password } }))));
export const logInWithCode = async (mfa_token: string, code: string): Promise<LogIn> =>
  remembered(await dataOf(answered(api.POST('/api/v1/auth/login/totp', { body: { mfa_token, code } }))));
/** The refresh token is in the cookie. */
export const logOut = async () => {
  await answered(api.POST('/api/v1/auth/logout', { body: {} }));
  forgetSignedIn();
};
export const stepUp = (code: string) => dataOf(answered(api.POST('/api/v1/auth/step-up', { body: { code } })));
/** Where the browser goes to sign in once more; it comes back to a page below /console. */
export const stepUpBySignOn = (return_to: string) =>
  dataOf(answered(api.POST('/api/v1/auth/oidc/step-up', { body: { return_to } })));
export const forgotPassword = (email: string) =>
  answered(api.POST('/api/v1/auth/forgot-password', { body: { email } }));
export const resetPassword = (token: string, password: string) =>
  answered(api.POST('/api/v1/auth/reset-password', { body: { token, password } }));
/** Without the account's password, or a session of it, the API takes the account for a stranger's and ends its password. */
export const verifyEmail = (token: string, password?: string) =>
  answered(api.POST('/api/v1/auth/verify-email', { body: { token, ...(password === undefined ? {} : { password }) } }));
export const singleSignOn = () => dataOf(answered(api.GET('/api/v1/auth/oidc')));
/** The browser goes there: the answer is a redirect to the identity provider. */
export const singleSignOnAddress = (back: string) => `/api/v1/auth/oidc/start?return_to=${encodeURIComponent(back)}`;

export const getMe = async (signal?: AbortSignal): Promise<Me> => {
  const me = await dataOf(answered(api.GET('/api/v1/me', signal ? { signal } : {})));
  rememberSignedIn();
  return me;
};
export const sendVerification = () => answered(api.POST('/api/v1/me/verify-email'));
export const changePassword = async (current_password: string, new_password: string) => {
  await answered(api.POST('/api/v1/me/password', { body: { current_password, new_password } }));
  // All sessions have ended.
  forgetSignedIn();
};
/** Later than 10 minutes after signing in, the API wants the password once more. */
export const enrol = (password?: string) =>
  dataOf(answered(api.POST('/api/v1/me/totp', { body: password === undefined ? {} : { password } })));
export const confirmEnrolment = (code: string) =>
  dataOf(answered(api.POST('/api/v1/me/totp/confirm', { body: { code } })));
export const removeSecondFactor = () => answered(api.DELETE('/api/v1/me/totp'));
export const listSessions = (signal?: AbortSignal) =>
  dataOf(answered(api.GET('/api/v1/me/sessions', signal ? { signal } : {})));
export const endSession = (id: string) =>
  answered(api.DELETE('/api/v1/me/sessions/{id}', { params: { path: { id } } }));
export const endAllSessions = async () => {
  await answered(api.DELETE('/api/v1/me/sessions'));
  forgetSignedIn();
};

export const createUser = (body: NewUser) => dataOf(answered(api.POST('/api/v1/admin/users', { body })));
export const changeUser = (id: string, body: UserChange) =>
  dataOf(answered(api.PATCH('/api/v1/admin/users/{id}', { params: { path: { id } }, body })));
export const removeUser = (id: string) =>
  answered(api.DELETE('/api/v1/admin/users/{id}', { params: { path: { id } } }));

export type UserAction = 'lock' | 'unlock' | 'invitation' | 'reset-second-factor';
export const actOnUser = (id: string, action: UserAction) =>
  answered(api.POST(`/api/v1/admin/users/{id}/${action}`, { params: { path: { id } } }));

/** Downloaded, not read: see download.ts. */
export const auditExportAddress = (query: URLSearchParams) => `/api/v1/admin/audit-logs/export?${query.toString()}`;
