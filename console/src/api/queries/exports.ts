import type { Schemas } from '../client';
import { pagesOf } from './lists';

const all = ['exports'] as const;

export const exportQueries = {
  all,
  of: (kind: Schemas['ExportKind']) => pagesOf([...all, kind], '/api/v1/admin/exports', { kind }),
};
