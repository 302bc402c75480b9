import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconExternalLink } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { answered, api, type Schemas } from '@/api/client';
import { dashboardQueries } from '@/api/queries/dashboard';
import { incidentQueries } from '@/api/queries/incidents';
import { useMay, useMe } from '@/app/me';
import { Badge } from '@/components/Badge';
import { Beside } from '@/components/Beside';
import type { Column } from '@/components/columns';
import { CopyId } from '@/components/CopyId';
import { Detail } from '@/components/Detail';
import { Facts } from '@/components/Facts';
import { ListPage } from '@/components/ListPage';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { bodyOf, type FieldsOf } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { IncidentKind } from '@/gen/enums';
import { useBeside } from '@/hooks/useBeside';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { moneyText } from '@/lib/money';
import { GiveBack } from '@/pages/payments/GiveBack';
import { useColumnParts } from '@/shared/columns';
import { Notes } from '@/shared/Notes';
import { Assign, useAssignees } from './Assign';

type Incident = Schemas['Incident'];

const card = { title: ['kind'], badge: 'status', meta: ['booking', 'assignee', 'created'] };

export function Component() {
  const { t, label, language } = useWords();
  const { choices, states } = useChoices();
  const parts = useColumnParts();
  const me = useMe();
  const assignees = useAssignees();
  const { open } = useBeside();
  const columns: Column<Incident>[] = [
    parts.status(),
    parts.plain('kind', t('field.kind'), 10.5, (row) => label(row, 'kind')),
    parts.booking(),
    parts.plain('message', t('incident.happened'), 17, (row) =>
      // An incident of an earlier version has no Arabic: its kind is shown instead.
      language === 'ar' && row.message_ar === row.message ? t(`incidentHelp.${row.kind}`) : row[`message_${language}`],
    ),
    parts.plain('assignee', t('incident.assignee'), 8, ({ assigned_to_name }) => assigned_to_name ?? null),
    parts.created(),
    {
      id: 'resolved',
      header: t('incident.resolved'),
      width: 8,
      hidden: true,
      cell: ({ resolved_at }) => <When at={resolved_at} relative />,
      text: ({ resolved_at }) => resolved_at ?? '',
    },
    parts.id(t('field.id'), true),
  ];
  return (
    <ListPage
      name="incidents"
      filters={[
        { name: 'status', label: t('field.status'), kind: 'choice', choices: states('incident') },
        { name: 'kind', label: t('field.kind'), kind: 'choice', choices: choices(IncidentKind) },
        {
          name: 'assignee_id',
          label: t('incident.assignee'),
          kind: 'choice',
          choices: assignees.map((one) => (one.value === me.id ? { ...one, label: t('incident.mine') } : one)),
        },
        {
          name: 'assigned',
          label: t('incident.assigned'),
          kind: 'choice',
          choices: (['true', 'false'] as const).map((value) => ({
            value,
            label: t(value === 'true' ? 'answer.yes' : 'answer.no'),
          })),
        },
      ]}
      defaults={{ status: 'OPEN' }}
      columns={columns}
      card={card}
      list={incidentQueries.list}
      rowId={({ id }) => id}
      sort="-created_at"
      open={open}
      above={({ rows, data }) => (
        <Beside rows={rows} read={data !== undefined} title={t('nav.incidents')} one={incidentQueries.one}>
          {(incident, { opened, close }) => <IncidentDetail incident={incident} opened={opened} close={close} />}
        </Beside>
      )}
    />
  );
}

function IncidentDetail({ incident, opened, close }: { incident: Incident; opened: boolean; close: () => void }) {
  const { t, label, language } = useWords();
  const may = useMay();
  const { links } = incident;
  // The workflow is named for its trip.
  const tripId =
    incident.kind === 'TRIP_CANCELLATION_BLOCKED' && may('GetTripCancellation')
      ? incident.workflow_id?.split('/')[1]
      : undefined;
  return (
    <Detail
      opened={opened}
      close={close}
      title={
        <span className={ui.row}>
          {label(incident, 'kind')} <Badge state={incident.status}>{label(incident, 'status')}</Badge>
        </span>
      }
    >
      <p className={ui.text}>
        {incident.repair?.state === 'DONE' ? t('incident.nothingLeft') : t(`incidentHelp.${incident.kind}`)}
      </p>
      <Repair incident={incident} />
      <div className={ui.row}>
        <Resolve incident={incident} />
        <Outside href={links?.runbook}>{t('incident.runbook')}</Outside>
      </div>
      <Assign incident={incident} />
      <IncidentNotes id={incident.id} />
      <Facts
        of={[
          [
            t('incident.recorded'),
            <bdi key="v" dir="auto">
              {incident[`message_${language}`]}
            </bdi>,
          ],
          [
            t('field.bookingNumber'),
            incident.booking_id && (
              <Link key="v" className="ltr" to={`/bookings/${incident.booking_id}`}>
                {incident.booking_number ?? incident.booking_id}
              </Link>
            ),
          ],
          [
            t('field.payment'),
            incident.payment_transaction_id && (
              <Link key="v" className="ltr" to={`/payments/${incident.payment_transaction_id}`}>
                …{incident.payment_transaction_id.slice(-8)}
              </Link>
            ),
          ],
          [
            t('calledOff.title'),
            tripId && (
              <Link key="v" to={`/trip-cancellations/${tripId}`}>
                {t('action.open')}
              </Link>
            ),
          ],
          [t('refund.title'), incident.refund_id && <CopyId key="v" id={incident.refund_id} />],
          [t('field.campaign'), incident.ad_campaign_id && <CopyId key="v" id={incident.ad_campaign_id} />],
          [t('field.created'), <When key="v" at={incident.created_at} />],
          [t('incident.resolved'), incident.resolved_at && <When key="v" at={incident.resolved_at} />],
          [
            t('incident.resolvedBy'),
            incident.resolved_by_name ? (
              <bdi key="v">{incident.resolved_by_name}</bdi>
            ) : (
              incident.resolved_by && <CopyId key="v" id={incident.resolved_by} />
            ),
          ],
          [t('field.note'), incident.note && <bdi key="v">{incident[`note_${language}`]}</bdi>],
          [t('field.workflow'), incident.workflow_id && <CopyId key="v" id={incident.workflow_id} whole />],
          [t('field.id'), <CopyId key="v" id={incident.id} whole />],
        ]}
      />
      <details>
        <summary>{t('timeline.facts')}</summary>
        <div className={ui.row}>
          <Outside href={links?.workflow}>{t('incident.workflow')}</Outside>
        </div>
        <pre className={`ltr ${ui.code ?? ''}`}>{JSON.stringify(incident.details, null, 2)}</pre>
      </details>
    </Detail>
  );
}

/** The step that puts the incident right, as a button with its amount; or that it is made. */
function Repair({ incident: { repair, status } }: { incident: Incident }) {
  const { t, language } = useWords();
  const may = useMay();
  if (!repair || (status === 'RESOLVED' && repair.state === 'DONE')) return null;
  const amount = moneyText(repair.amount, language, repair.currency);
  if (repair.state !== 'DUE') {
    return (
      <p className={repair.state === 'DONE' ? ui.good : ui.notice} role="status">
        {t(`incident.repair.${repair.state}`, { amount })}
      </p>
    );
  }
  if (repair.kind === 'REFUND_PAYMENT') {
    return (
      <div>
        <GiveBack paymentId={repair.payment_transaction_id} amount={repair.amount} currency={repair.currency} />
      </div>
    );
  }
  if (!may('ConfirmRefundPayout')) return null;
  return (
    <div>
      <Button size="xs" renderRoot={(props) => <Link {...props} to={`/payments/${repair.payment_transaction_id}`} />}>
        {t('incident.payOut', { amount })}
      </Button>
    </div>
  );
}

/** What staff have found out about it. */
function IncidentNotes({ id }: { id: string }) {
  const { t } = useWords();
  const may = useMay();
  const asked = incidentQueries.notes(id);
  return (
    <Notes
      title={t('incident.notes')}
      notes={useQuery(asked)}
      queryKey={asked.queryKey}
      add={
        may('AddIncidentNote')
          ? (note, key) =>
              answered(
                api.POST('/api/v1/admin/incidents/{id}/notes', {
                  params: { path: { id }, header: { 'Idempotency-Key': key } },
                  body: { note },
                }),
              )
          : null
      }
    />
  );
}

function Outside({ href, children }: { href: string | null | undefined; children: string }) {
  if (!href) return null;
  return (
    <Button
      component="a"
      href={href}
      target="_blank"
      rel="noreferrer"
      size="xs"
      variant="default"
      rightSection={<IconExternalLink size={14} />}
    >
      {children}
    </Button>
  );
}

function Resolve({ incident }: { incident: Incident }) {
  const { t, language, label } = useWords();
  const { repair } = incident;
  const done = repair?.state === 'DONE' && moneyText(repair.amount, language, repair.currency);
  const may = useMay();
  const [opened, { open, close }] = useDisclosure();
  if (incident.status !== 'OPEN' || !may('ResolveIncident')) return null;
  const fields: FieldsOf<Schemas['ResolveIncidentRequest']> = [
    { name: 'note', label: t('incident.whatWasDone'), kind: 'area', required: true },
  ];
  return (
    <>
      {/* The repair comes first, as long as it is to be made. */}
      <Button size="xs" variant={repair && !done ? 'default' : 'filled'} onClick={open}>
        {t('incident.resolve')}
      </Button>
      <FormDialog
        opened={opened}
        close={close}
        title={t('incident.resolve')}
        fields={fields}
        submitLabel={t('incident.resolve')}
        changes={[incidentQueries.all, dashboardQueries.all]}
        {...(done && { initial: { note: t('incident.repair.DONE', { amount: done }) } })}
        done={t('done.resolved', { kind: label(incident, 'kind') })}
        submit={(values) =>
          answered(
            api.POST('/api/v1/admin/incidents/{id}/resolve', {
              params: { path: { id: incident.id } },
              body: bodyOf<Schemas['ResolveIncidentRequest']>(fields, values),
            }),
          )
        }
      />
    </>
  );
}
