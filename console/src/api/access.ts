import { access } from '@/gen/access';
import type { Role } from './identity';

export type Operation = keyof typeof access;

/**
 * Whether the role may call the operation. Pages leave out what it may not; the API decides that itself, from the same lines of its
 * document.
 */
export function may(role: Role, operation: Operation): boolean {
  const roles: readonly string[] = access[operation];
  return roles.includes(role) || roles.includes('authenticated') || roles.includes('public');
}
