// Operations of sessions, second factors and users, written by hand until openapi.yaml has them; then the generated types take
// their place.
import type { Schemas } from './client';
import { errorOf } from './errors';
import { sessionFetch } from './transport';

export type Role = Schemas['Role'];

type User = Schemas['User'];

export interface Me extends User {
  email_verified?: boolean;
  second_factor?: boolean;
  second_factor_needed?: boolean;
  stepped_up_until?: string | null;
}

export type LogIn = { mfa_required: true; mfa_token: string } | { mfa_required?: false; user: Me; session_id: string };

export interface Session {
  id: string;
  current: boolean;
  user_agent: string;
  address: string;
  created_at: string;
  last_used_at: string;
  expires_at: string;
  second_factor: boolean;
}

export type UserState = 'ACTIVE' | 'LOCKED' | 'INVITED';

export interface ManagedUser extends User {
  state: UserState;
  second_factor: boolean;
  created_at: string;
  last_login_at: string | null;
  locked_until: string | null;
}

export interface NewUser {
  name: string;
  email: string;
  phone: string;
  role: Role;
  locale: Schemas['Locale'];
}

export interface RefundApproval {
  decision: 'APPROVED' | 'REJECTED' | 'EXPIRED';
  decided_by: string | null;
  decided_at: string;
  note: string | null;
}

/** A refund with the fields of approvals, which the document does not have yet. */
export type ApprovableRefund = Schemas['Refund'] & {
  needs_approval?: boolean;
  approval?: RefundApproval | null;
  approval_until?: string | null;
};

export interface Enrolment {
  secret: string;
  otpauth_uri: string;
  qr_code: string;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

async function call<T>(method: Method, path: string, body?: object, signal?: AbortSignal): Promise<T> {
  const response = await sessionFetch(
    new Request(`/api/v1${path}`, {
      method,
      ...(body ? { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } } : {}),
      ...(signal ? { signal } : {}),
    }),
  );
  const answer: unknown = response.status === 204 ? null : await response.json().catch(() => null);
  if (!response.ok) throw errorOf(response, answer);
  return answer as T;
}

interface Data<T> {
  data: T;
}

const dataOf = async <T>(answer: Promise<Data<T>>): Promise<T> => (await answer).data;

export const logIn = (email: string, password: string) =>
  dataOf(call<Data<LogIn>>('POST', '/auth/login', { email, password }));
export const logInWithCode = (mfa_token: string, code: string) =>
  dataOf(call<Data<LogIn>>('POST', '/auth/login/totp', { mfa_token, code }));
export const logOut = () => call<null>('POST', '/auth/logout', {});
export const stepUp = (code: string) =>
  dataOf(call<Data<{ stepped_up_until: string }>>('POST', '/auth/step-up', { code }));
export const forgotPassword = (email: string) => call<null>('POST', '/auth/forgot-password', { email });
export const resetPassword = (token: string, password: string) =>
  call<null>('POST', '/auth/reset-password', { token, password });
export const verifyEmail = (token: string) => call<null>('POST', '/auth/verify-email', { token });
export const singleSignOn = () => dataOf(call<Data<{ enabled: boolean }>>('GET', '/auth/oidc'));
export const singleSignOnAddress = (back: string) => `/api/v1/auth/oidc/start?return_to=${encodeURIComponent(back)}`;

export const getMe = (signal?: AbortSignal) => dataOf(call<Data<Me>>('GET', '/me', undefined, signal));
export const sendVerification = () => call<null>('POST', '/me/verify-email', {});
export const changePassword = (current_password: string, new_password: string) =>
  call<null>('POST', '/me/password', { current_password, new_password });
/** Later than 10 minutes after signing in, the API wants the password once more. */
export const enrol = (password?: string) =>
  dataOf(call<Data<Enrolment>>('POST', '/me/totp', password === undefined ? {} : { password }));
export const confirmEnrolment = (code: string) =>
  dataOf(call<Data<{ recovery_codes: string[] }>>('POST', '/me/totp/confirm', { code }));
export const removeSecondFactor = () => call<null>('DELETE', '/me/totp');
export const listSessions = (signal?: AbortSignal) =>
  dataOf(call<Data<Session[]>>('GET', '/me/sessions', undefined, signal));
export const endSession = (id: string) => call<null>('DELETE', `/me/sessions/${id}`);
export const endAllSessions = () => call<null>('DELETE', '/me/sessions');

export interface UsersPage {
  data: ManagedUser[];
  meta: Schemas['Meta'];
}

export const listUsers = (filters: Record<string, string>, cursor: string | null, signal: AbortSignal) => {
  const query = new URLSearchParams({ ...filters, per_page: '100', ...(cursor === null ? {} : { cursor }) });
  return call<UsersPage>('GET', `/admin/users?${query.toString()}`, undefined, signal);
};
export const createUser = (user: NewUser) => dataOf(call<Data<ManagedUser>>('POST', '/admin/users', user));
export const changeUser = (id: string, change: Partial<Omit<NewUser, 'email'>>) =>
  dataOf(call<Data<ManagedUser>>('PATCH', `/admin/users/${id}`, change));
export const removeUser = (id: string) => call<null>('DELETE', `/admin/users/${id}`);
export type UserAction = 'lock' | 'unlock' | 'invitation' | 'reset-second-factor';
export const actOnUser = (id: string, action: UserAction) => call<unknown>('POST', `/admin/users/${id}/${action}`, {});

export const approveRefund = (id: string, note: string) =>
  dataOf(call<Data<ApprovableRefund>>('POST', `/admin/refunds/${id}/approve`, note ? { note } : {}));
export const rejectRefund = (id: string, note: string) =>
  dataOf(call<Data<ApprovableRefund>>('POST', `/admin/refunds/${id}/reject`, { note }));

export const auditExportAddress = (query: URLSearchParams) => `/api/v1/admin/audit-logs/export?${query.toString()}`;
