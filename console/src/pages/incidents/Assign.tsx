import { Button, Select } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { answered, api, type Schemas } from '@/api/client';
import { incidentQueries } from '@/api/queries/incidents';
import { useMe, useMay } from '@/app/me';
import { ErrorMessage } from '@/components/Messages';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';

/** The members of staff that an incident can be given to. */
export function useAssignees() {
  const may = useMay()('ListIncidentAssignees');
  const { data } = useQuery({
    ...incidentQueries.assignees(),
    enabled: may,
  });
  return (data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }));
}

/** Who looks after the incident; giving it to another, to oneself, or to no one. */
export function Assign({ incident }: { incident: Schemas['Incident'] }) {
  const { t } = useWords();
  const me = useMe();
  const may = useMay();
  const queries = useQueryClient();
  const assignees = useAssignees();
  const assigned = incident.assigned_to ?? null;
  const give = useMutation({
    mutationFn: (assignee_id: string | null) =>
      answered(
        api.POST('/api/v1/admin/incidents/{id}/assign', {
          params: { path: { id: incident.id } },
          body: { assignee_id },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: incidentQueries.all }),
  });
  if (incident.status !== 'OPEN' || !may('AssignIncident')) return null;
  // An account that may no longer be given incidents is shown as long as it has this one.
  const former = assigned !== null && !assignees.some(({ value }) => value === assigned);
  const choices = former ? [...assignees, { value: assigned, label: incident.assigned_to_name ?? '…' }] : assignees;
  return (
    <>
      <div className={ui.row} style={{ alignItems: 'flex-end' }}>
        <Select
          size="xs"
          label={t('incident.assignee')}
          placeholder={t('incident.unassigned')}
          data={choices}
          value={assigned}
          onChange={(next) => {
            give.mutate(next);
          }}
          disabled={give.isPending}
          searchable
          clearable
        />
        {assigned !== me.id && (
          <Button
            size="xs"
            variant="default"
            loading={give.isPending}
            onClick={() => {
              give.mutate(me.id);
            }}
          >
            {t('incident.take')}
          </Button>
        )}
      </div>
      {give.isError && <ErrorMessage error={give.error} />}
    </>
  );
}
