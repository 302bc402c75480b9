import { useQuery } from '@tanstack/react-query';
import { answered, api, listAll, listPage, type Schemas } from '@/api/client';
import { CopyId } from '@/components/CopyId';
import { Facts } from '@/components/Facts';
import { Money } from '@/components/Money';
import { Day } from '@/components/When';
import { bodyOf, type Field } from '@/forms/fields';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { useColumnParts } from '@/shared/columns';
import { Act } from './Act';
import { PaidOrNot } from './PaidOrNot';
import { PayCampaign } from './PayCampaign';
import { ResourcePage } from './ResourcePage';

type Campaign = Schemas['AdCampaign'];
type Input = Schemas['AdCampaignInput'];

const unpaid = new Set<Campaign['status']>(['PENDING_PAYMENT', 'PAYMENT_FAILED']);

function useFields(): Field[] {
  const { t } = useWords();
  const trips = useQuery({
    queryKey: ['trips', 'choices'],
    queryFn: ({ signal }) => listAll('/api/v1/provider/trips', { status: 'PUBLISHED' }, signal),
  });
  return [
    {
      name: 'trip_id',
      label: t('field.trip'),
      kind: 'choice',
      required: true,
      choices: (trips.data ?? []).map(({ id, title }) => ({ value: id, label: title })),
    },
    { name: 'title', label: t('field.title'), required: true },
    { name: 'description', label: t('field.description'), kind: 'area' },
    { name: 'starts_on', label: t('field.starts'), kind: 'day', required: true },
    { name: 'ends_on', label: t('field.ends'), kind: 'day', required: true },
    { name: 'price', label: t('field.priceNet'), kind: 'money', required: true },
  ];
}

export function Component() {
  const { t, label } = useWords();
  const { states } = useChoices();
  const base = useBaseFilters();
  const parts = useColumnParts();
  const fields = useFields();
  return (
    <ResourcePage<Campaign>
      name="campaigns"
      creates="CreateAdCampaign"
      filters={[
        base.search(t('portal.searchCampaign')),
        { name: 'status', label: t('field.status'), kind: 'choice', choices: states('campaign') },
      ]}
      columns={[
        parts.plain('title', t('field.title'), 13, ({ title }) => title, { sort: 'title' }),
        { ...parts.status(), sort: 'status' },
        {
          id: 'starts',
          header: t('field.starts'),
          width: 7,
          sort: 'starts_on',
          cell: (row) => <Day day={row.starts_on} />,
          text: (row) => row.starts_on,
        },
        {
          id: 'ends',
          header: t('field.ends'),
          width: 7,
          sort: 'ends_on',
          cell: (row) => <Day day={row.ends_on} />,
          text: (row) => row.ends_on,
        },
        { ...parts.amount<Campaign>(), sort: 'price' },
        parts.created(),
      ]}
      read={(filters, cursor, signal) => listPage('/api/v1/provider/ad-campaigns', filters, cursor, signal)}
      fields={fields}
      fresh={{}}
      titleOf={({ title }) => title}
      valuesOf={(row) => ({
        trip_id: row.trip_id,
        title: row.title,
        description: row.description ?? '',
        starts_on: row.starts_on,
        ends_on: row.ends_on,
        price: row.price.toFixed(2),
      })}
      create={(values, query) =>
        answered(api.POST('/api/v1/provider/ad-campaigns', { params: { query }, body: bodyOf<Input>(fields, values) }))
      }
      change={(id, values, changed) =>
        answered(
          api.PATCH('/api/v1/provider/ad-campaigns/{id}', {
            params: { path: { id } },
            body: bodyOf<Schemas['AdCampaignPatch']>(changed, values),
          }),
        )
      }
      remove={(id) => answered(api.DELETE('/api/v1/provider/ad-campaigns/{id}', { params: { path: { id } } }))}
      editable={({ status }) => unpaid.has(status)}
      actions={(row) => <Actions campaign={row} />}
      notice={<PaidOrNot />}
      facts={(row) => (
        <Facts
          of={[
            [t('field.status'), label(row, 'status')],
            [t('field.description'), row.description],
            [t('field.starts'), <Day key="v" day={row.starts_on} />],
            [t('field.ends'), <Day key="v" day={row.ends_on} />],
            [t('field.priceNet'), <Money key="v" amount={row.price} currency={row.currency} />],
            [t('card.vat_amount'), <Money key="v" amount={row.vat_amount} currency={row.currency} />],
            [t('field.amount'), <Money key="v" amount={row.amount} currency={row.currency} />],
            [t('field.trip'), <CopyId key="v" id={row.trip_id} />],
            [t('field.id'), <CopyId key="v" id={row.id} whole />],
          ]}
        />
      )}
    />
  );
}

function Actions({ campaign }: { campaign: Campaign }) {
  const { t } = useWords();
  const path = { id: campaign.id };
  if (unpaid.has(campaign.status)) return <PayCampaign campaign={campaign} />;
  if (campaign.status === 'ACTIVE') {
    return (
      <Act
        label={t('portal.pause')}
        what={campaign.title}
        changes={['campaigns']}
        done={t('done.paused', { name: campaign.title })}
        submit={() => answered(api.POST('/api/v1/ad-campaigns/{id}/pause', { params: { path } }))}
      />
    );
  }
  if (campaign.status !== 'PAUSED') return null;
  return (
    <Act
      label={t('portal.resume')}
      what={campaign.title}
      changes={['campaigns']}
      done={t('done.resumed', { name: campaign.title })}
      submit={() => answered(api.POST('/api/v1/ad-campaigns/{id}/resume', { params: { path } }))}
    />
  );
}
