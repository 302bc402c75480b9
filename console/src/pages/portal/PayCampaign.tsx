import { useQuery } from '@tanstack/react-query';
import { answered, api, type Schemas } from '@/api/client';
import { paymentQueries } from '@/api/queries/payments';
import { campaigns } from '@/api/queries/resources';
import type { Field } from '@/forms/fields';
import { useWords } from '@/i18n/useWords';
import { Act } from './Act';

/** Opens a payment of a campaign: the browser goes on to the gateway's page, and comes back to the list. */
export function PayCampaign({ campaign }: { campaign: Schemas['AdCampaign'] }) {
  const { t } = useWords();
  const methods = useQuery(paymentQueries.methods());
  const offers = (methods.data?.data ?? []).filter(({ available }) => available);
  const fields: Field[] = [
    {
      name: 'payment_method',
      label: t('field.method'),
      kind: 'choice',
      required: true,
      choices: offers.map(({ method, label }) => ({ value: method, label })),
    },
  ];
  return (
    <Act
      label={t('portal.pay')}
      what={campaign.title}
      fields={fields}
      changes={[campaigns.list.queryKey]}
      done={t('done.toPayment')}
      keyed
      submit={async ({ payment_method }, key) => {
        const { data } = await answered(
          api.POST('/api/v1/payments/ad-campaign/{ad_campaign_id}/intent', {
            params: { path: { ad_campaign_id: campaign.id }, header: { 'Idempotency-Key': key } },
            // The gateway's page ends in this tab: its way back is to the campaign.
            body: {
              payment_method: payment_method as Schemas['PaymentMethod'],
              return_url: `${location.origin}/console/campaigns/paid?campaign=${campaign.id}&search=${encodeURIComponent(campaign.title)}`,
            },
          }),
        );
        if (data.checkout_url) location.assign(data.checkout_url);
      }}
    />
  );
}
