import { useQuery } from '@tanstack/react-query';
import { answered, api, type Schemas } from '@/api/client';
import { campaigns, choiceQueries } from '@/api/queries/resources';
import { CopyId } from '@/components/CopyId';
import { Money } from '@/components/Money';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { RefundCampaign } from '@/pages/payments/RefundCampaign';
import { useColumnParts } from '@/shared/columns';
import { Act } from './Act';
import { PaidOrNot } from './PaidOrNot';
import { PayCampaign } from './PayCampaign';
import type { ResourceFields } from './resourceFields';
import { ResourcePage } from './ResourcePage';

type Campaign = Schemas['AdCampaign'];

const unpaid = new Set<Campaign['status']>(['PENDING_PAYMENT', 'PAYMENT_FAILED']);

/** Those that were paid, and have not all gone back. */
const bought = new Set<Campaign['status']>(['SCHEDULED', 'ACTIVE', 'PAUSED', 'ENDED']);

function useFields(): ResourceFields<Campaign, Schemas['AdCampaignInput'], Schemas['AdCampaignPatch']> {
  const { t, label } = useWords();
  const parts = useColumnParts();
  const trips = useQuery(choiceQueries.trips());
  return [
    {
      name: 'trip_id',
      label: t('field.trip'),
      kind: 'choice',
      required: true,
      choices: (trips.data ?? []).map(({ id, title }) => ({ value: id, label: title })),
      // By its id, below.
      fact: false,
    },
    { name: 'title', label: t('field.title'), required: true, column: { width: 13, sort: 'title' }, fact: false },
    {
      label: t('field.status'),
      column: { ...parts.status(), sort: 'status' },
      fact: (row) => label(row, 'status'),
    },
    { name: 'description', label: t('field.description'), kind: 'area' },
    {
      name: 'starts_on',
      label: t('field.starts'),
      kind: 'day',
      required: true,
      column: { id: 'starts', width: 7, sort: 'starts_on' },
    },
    {
      name: 'ends_on',
      label: t('field.ends'),
      kind: 'day',
      required: true,
      column: { id: 'ends', width: 7, sort: 'ends_on' },
    },
    { name: 'price', label: t('field.priceNet'), kind: 'money', required: true },
    {
      label: t('card.vat_amount'),
      fact: ({ vat_amount, currency }) => <Money amount={vat_amount} currency={currency} />,
    },
    {
      label: t('field.amount'),
      column: { ...parts.amount<Campaign>(), sort: 'price' },
      fact: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
    },
    { label: t('field.trip'), fact: ({ trip_id }) => <CopyId id={trip_id} /> },
    { column: parts.created() },
  ];
}

const card = { title: ['title'], amount: 'amount', badge: 'status', meta: ['starts', 'ends', 'company'] };

export function Component() {
  const { t } = useWords();
  const { states } = useChoices();
  const base = useBaseFilters();
  return (
    <ResourcePage
      name="campaigns"
      of={campaigns}
      creates="CreateAdCampaign"
      filters={[
        base.search(t('portal.searchCampaign')),
        { name: 'status', label: t('field.status'), kind: 'choice', choices: states('campaign') },
      ]}
      fields={useFields()}
      card={card}
      fresh={{}}
      titleOf={({ title }) => title}
      editable={({ status }) => unpaid.has(status)}
      actions={(row) => (
        <>
          <Actions campaign={row} />
          {bought.has(row.status) && <RefundCampaign campaignId={row.id} begun={row.status !== 'SCHEDULED'} />}
        </>
      )}
      notice={<PaidOrNot />}
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
        changes={[campaigns.list.queryKey]}
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
      changes={[campaigns.list.queryKey]}
      done={t('done.resumed', { name: campaign.title })}
      submit={() => answered(api.POST('/api/v1/ad-campaigns/{id}/resume', { params: { path } }))}
    />
  );
}
