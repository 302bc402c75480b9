import { collection } from './lists';

const all = ['users'] as const;

export const userQueries = { all, list: collection('/api/v1/admin/users', all) };
