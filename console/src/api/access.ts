import { access } from '@/gen/access';
import type { Role } from './identity';

/** Operations that openapi.yaml does not have yet, with the roles that it will give them. */
const pending = {
  ListUsers: ['SUPER_ADMIN'],
  CreateUser: ['SUPER_ADMIN'],
  ExportAuditLogs: ['SUPER_ADMIN'],
  ApproveRefund: ['FINANCE_ADMIN', 'ADMIN', 'SUPER_ADMIN'],
} as const;

const all: Record<string, readonly string[]> = { ...access, ...pending };

export type Operation = keyof typeof access | keyof typeof pending;

/**
 * Whether the role may call the operation. What is shown goes by it; what is allowed does not: the API decides that, from the same
 * lines of its document.
 */
export function may(role: Role, operation: Operation): boolean {
  const roles = all[operation] ?? [];
  return roles.includes(role) || roles.includes('authenticated') || roles.includes('public');
}

/** Whether the document that the console was built with has the operation. */
export const documented = (operation: Operation) => operation in access;
