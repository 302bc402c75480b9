import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { answered, api, type Schemas } from '@/api/client';
import { companyQueries } from '@/api/queries/company';
import { useMay } from '@/app/me';
import { Badge } from '@/components/Badge';
import { Answer, Card } from '@/components/Card';
import { CopyId } from '@/components/CopyId';
import { Facts } from '@/components/Facts';
import { PageHead } from '@/components/PageHead';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { bodyOf, valuesOf, type FieldsOf } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { useWords } from '@/i18n/useWords';
import { Colleagues } from './Colleagues';
import { Contacts } from './Contacts';

type Company = Schemas['Company'];

/** The company of the signed-in person: its data, who gets its messages, and who acts for it. */
export function Component() {
  const { t } = useWords();
  const may = useMay();
  const company = useQuery(companyQueries.own());
  return (
    <div className={ui.page}>
      <PageHead help="company" title={t('nav.company')} />
      <Answer query={company} lines={8}>
        {({ data }) => (
          <>
            <Own company={data} />
            <Contacts of={data.contact_persons} />
          </>
        )}
      </Answer>
      {may('ListCompanyStaff') && <Colleagues />}
    </div>
  );
}

function Own({ company }: { company: Company }) {
  const { t, label } = useWords();
  const may = useMay();
  const [editing, edit] = useDisclosure();
  const fields: FieldsOf<Pick<Schemas['CompanyPatch'], 'name' | 'phone'>> = [
    { name: 'name', label: t('field.name'), required: true },
    { name: 'phone', label: t('field.phone'), kind: 'phone', required: true },
  ];
  return (
    <Card
      title={<bdi>{company.name}</bdi>}
      aside={
        may('PatchCompany') && (
          <Button size="compact-xs" variant="default" className={ui.push} onClick={edit.open}>
            {t('action.edit')}
          </Button>
        )
      }
    >
      <Facts
        of={[
          [
            t('field.status'),
            <Badge key="v" state={company.status}>
              {label(company, 'status')}
            </Badge>,
          ],
          [t('field.phone'), <CopyId key="v" id={company.phone} />],
          [t('field.email'), <CopyId key="v" id={company.email} />],
          [t('field.city'), company.city],
          [t('field.created'), <When key="v" at={company.created_at} />],
        ]}
      />
      <FormDialog
        opened={editing}
        close={edit.close}
        title={t('action.edit')}
        fields={fields}
        initial={valuesOf<Company>(fields, company)}
        submitLabel={t('action.save')}
        changes={[companyQueries.all]}
        done={t('done.saved', { name: company.name })}
        submit={(values, _, changed) =>
          answered(api.PATCH('/api/v1/provider/company', { body: bodyOf<Schemas['CompanyPatch']>(changed, values) }))
        }
      >
        <p className={ui.text}>{t('company.editHint')}</p>
      </FormDialog>
    </Card>
  );
}
