import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import { answered, api, type Schemas } from '@/api/client';
import { auditQueries } from '@/api/queries/audit';
import { providerQueries } from '@/api/queries/providers';
import { useMay } from '@/app/me';
import { Badge } from '@/components/Badge';
import { Answer, Card } from '@/components/Card';
import { CopyId } from '@/components/CopyId';
import { Facts } from '@/components/Facts';
import { MiniTable } from '@/components/MiniTable';
import { Money } from '@/components/Money';
import { PageHead } from '@/components/PageHead';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { bodyOf, valuesOf } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { useWords } from '@/i18n/useWords';
import { countText, rateText } from '@/lib/money';
import { BalanceCard } from '@/pages/ledger/BalanceCard';
import { useColumnParts } from '@/shared/columns';
import { useProviderFields } from './fields';
import { Staff } from './Staff';

type Detail = Schemas['ProviderDetail'];

export function Component() {
  const { t, label } = useWords();
  const { id = '' } = useParams();
  const provider = useQuery(providerQueries.one(id));
  const data = provider.data?.data;
  return (
    <div className={ui.page}>
      <PageHead
        help="providers"
        name={data?.name ?? t('nav.providers')}
        title={
          data ? (
            <span className={ui.row}>
              <bdi>{data.name}</bdi> <Badge state={data.status}>{label(data, 'status')}</Badge>
            </span>
          ) : (
            t('nav.providers')
          )
        }
      >
        {data && <Actions provider={data} />}
      </PageHead>
      <Answer query={provider} lines={10}>
        {({ data: found }) => <Parts provider={found} />}
      </Answer>
    </div>
  );
}

function Parts({ provider }: { provider: Detail }) {
  const { t, language } = useWords();
  const may = useMay();
  const { stats } = provider;
  const counts = ['trips_count', 'bookings_count', 'buses_count', 'hotels_count', 'rest_stops_count'] as const;
  const amounts = ['gross_amount', 'net_amount', 'in_current_balance_amount'] as const;
  return (
    <>
      {may('GetBalanceOfProvider') && <BalanceCard providerId={provider.id} />}
      <div className={ui.columns}>
        <Card title={t('provider.company')}>
          <Facts
            of={[
              [t('field.email'), <CopyId key="v" id={provider.email} />],
              [t('field.phone'), <CopyId key="v" id={provider.phone} />],
              [t('field.city'), provider.city],
              [t('field.commissionRate'), rateText(provider.commission_rate, language)],
              [t('field.created'), <When key="v" at={provider.created_at} />],
              [t('field.id'), <CopyId key="v" id={provider.id} whole />],
            ]}
          />
        </Card>
        <Card
          title={t('provider.figures')}
          aside={
            <Link className={ui.push} to={`/ledger?provider_id=${provider.id}`}>
              {t('nav.ledger')}
            </Link>
          }
        >
          <Facts
            of={[
              ...counts.map((name): [string, React.ReactNode] => [t(`stat.${name}`), countText(stats[name], language)]),
              ...amounts.map((name): [string, React.ReactNode] => [
                t(`card.${name}`),
                <Money key={name} amount={stats[name]} />,
              ]),
            ]}
          />
        </Card>
      </div>
      <Staff providerId={provider.id} />
      {may('ListAuditLogs') && <Changes providerId={provider.id} />}
    </>
  );
}

/** Who changed the company, its commission and its state, and when: from the audit log. */
function Changes({ providerId }: { providerId: string }) {
  const { t } = useWords();
  const parts = useColumnParts();
  const logs = useQuery(auditQueries.ofProvider(providerId));
  return (
    <Card title={t('provider.history')}>
      <Answer query={logs}>
        {({ data }) => (
          <MiniTable
            label={t('provider.history')}
            rows={data}
            rowId={({ id }) => id}
            columns={[
              parts.created(),
              parts.plain<Schemas['AuditLog']>('action', t('audit.action'), 10, ({ action }) => action),
              {
                id: 'actor',
                header: t('audit.actor'),
                width: 8,
                cell: ({ actor_id, operator }) => (operator ? <bdi>{operator}</bdi> : <CopyId id={actor_id} />),
                text: ({ actor_id }) => actor_id ?? '',
              },
              parts.plain<Schemas['AuditLog']>('details', t('field.details'), 20, ({ details }) =>
                JSON.stringify(details),
              ),
            ]}
          />
        )}
      </Answer>
    </Card>
  );
}

function Actions({ provider }: { provider: Detail }) {
  const { t } = useWords();
  const may = useMay();
  const [editing, edit] = useDisclosure();
  const [switching, switch_] = useDisclosure();
  const fields = useProviderFields();
  const path = { id: provider.id };
  const active = provider.status === 'ACTIVE';
  if (!may('PatchProvider')) return null;
  return (
    <>
      <Button size="xs" variant="default" onClick={edit.open}>
        {t('action.edit')}
      </Button>
      <Button size="xs" variant="default" onClick={switch_.open}>
        {t(active ? 'provider.deactivate' : 'provider.activate')}
      </Button>
      <FormDialog
        opened={editing}
        close={edit.close}
        title={t('action.edit')}
        fields={fields}
        initial={valuesOf<Detail>(fields, provider)}
        submitLabel={t('action.save')}
        changes={[providerQueries.all, auditQueries.all]}
        done={t('done.saved', { name: provider.name })}
        submit={(values, _, changed) =>
          answered(
            api.PATCH('/api/v1/admin/providers/{id}', {
              params: { path },
              body: bodyOf<Schemas['ProviderPatch']>(changed, values),
            }),
          )
        }
      />
      <FormDialog
        opened={switching}
        close={switch_.close}
        title={t(active ? 'provider.deactivate' : 'provider.activate')}
        fields={[]}
        submitLabel={t(active ? 'provider.deactivate' : 'provider.activate')}
        danger={active}
        changes={[providerQueries.all, auditQueries.all]}
        done={t(active ? 'done.deactivated' : 'done.activated', { name: provider.name })}
        submit={() =>
          answered(
            active
              ? api.POST('/api/v1/admin/providers/{id}/deactivate', { params: { path } })
              : api.POST('/api/v1/admin/providers/{id}/activate', { params: { path } }),
          )
        }
      >
        <p className={ui.text}>
          {t(active ? 'provider.deactivateHint' : 'provider.activateHint', { name: provider.name })}
        </p>
      </FormDialog>
    </>
  );
}
