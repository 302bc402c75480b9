import { useQuery } from '@tanstack/react-query';
import { may, type Operation } from '@/api/access';
import { getMe, type Me } from '@/api/identity';

export const meKey = ['me'] as const;

export const useMeQuery = () =>
  useQuery({ queryKey: meKey, queryFn: ({ signal }) => getMe(signal), staleTime: 60_000, retry: false });

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
