import { useQuery } from '@tanstack/react-query';
import { may, type Operation } from '@/api/access';
import type { Me } from '@/api/identity';
import { meQueries } from '@/api/queries/me';

export const useMeQuery = () => useQuery(meQueries.me());

/** The signed-in user. Pages below the shell have one: it does not show them before. */
export function useMe(): Me {
  const { data } = useMeQuery();
  if (!data) throw new Error('a page without a session');
  return data;
}

/** Whether the signed-in user's role may call an operation: for what to show, not for what is allowed. */
export function useMay(): (operation: Operation) => boolean {
  const { role } = useMe();
  return (operation) => may(role, operation);
}

export const isProvider = (me: Me) => me.role === 'PROVIDER_ADMIN' || me.role === 'PROVIDER_STAFF';
