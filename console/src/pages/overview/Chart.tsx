import { Bar, CartesianGrid, ComposedChart, Legend, Line, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import type { Schemas } from '@/api/client';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';
import { dayText, weekdayText } from '@/lib/dates';
import { amountText, countText } from '@/lib/money';
import classes from './overview.module.css';

/** The days of a period: gross as bars, net and what was given back as lines; and the same as a table for those who do not see it. */
export default function Chart({ series }: { series: Schemas['FinancialReportDay'][] }) {
  const { t, language } = useWords();
  const rtl = language === 'ar';
  return (
    <>
      <div className={classes.chart} aria-hidden="true">
        <ResponsiveContainer width="100%" height="100%">
          <ComposedChart data={series} margin={{ top: 8, bottom: 0, left: 0, right: 0 }} accessibilityLayer={false}>
            <CartesianGrid vertical={false} stroke="var(--line)" />
            <XAxis
              dataKey="date"
              reversed={rtl}
              tickFormatter={(day: string) => weekdayText(day, language)}
              minTickGap={28}
              tickLine={false}
              stroke="var(--mantine-color-dimmed)"
              fontSize={12}
            />
            <YAxis
              orientation={rtl ? 'right' : 'left'}
              tickFormatter={(value: number) => countText(value, language)}
              width={76}
              tickLine={false}
              axisLine={false}
              stroke="var(--mantine-color-dimmed)"
              fontSize={12}
              tickMargin={4}
            />
            <Tooltip
              formatter={(value) => (typeof value === 'number' ? `${amountText(value, language)} SAR` : value)}
              labelFormatter={(day) => (typeof day === 'string' ? dayText(day, language) : '')}
              contentStyle={{ background: 'var(--card)', border: '1px solid var(--line)', borderRadius: 6 }}
              cursor={{ fill: 'var(--hover)' }}
            />
            <Legend iconType="circle" iconSize={9} />
            <Bar
              dataKey="gross_amount"
              name={t('card.gross_amount')}
              fill="var(--series-1)"
              radius={[3, 3, 0, 0]}
              maxBarSize={34}
              isAnimationActive={false}
            />
            <Line
              dataKey="net_amount"
              name={t('card.net_amount')}
              stroke="var(--series-2)"
              strokeWidth={2}
              dot={false}
              isAnimationActive={false}
            />
            <Line
              dataKey="refunded_amount"
              name={t('card.refunded_amount')}
              stroke="var(--series-3)"
              strokeWidth={2}
              dot={false}
              isAnimationActive={false}
            />
          </ComposedChart>
        </ResponsiveContainer>
      </div>
      <details className={ui.small}>
        <summary>{t('overview.asTable')}</summary>
        <div className={ui.scroll}>
          <table className={ui.plain}>
            <thead>
              <tr>
                <th scope="col">{t('field.day')}</th>
                <th scope="col" data-align="end">
                  {t('card.gross_amount')}
                </th>
                <th scope="col" data-align="end">
                  {t('card.net_amount')}
                </th>
                <th scope="col" data-align="end">
                  {t('card.refunded_amount')}
                </th>
              </tr>
            </thead>
            <tbody>
              {series.map((day) => (
                <tr key={day.date}>
                  <td>{dayText(day.date, language)}</td>
                  <td data-align="end" className="numbers">
                    {amountText(day.gross_amount, language)}
                  </td>
                  <td data-align="end" className="numbers">
                    {amountText(day.net_amount, language)}
                  </td>
                  <td data-align="end" className="numbers">
                    {amountText(day.refunded_amount, language)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </>
  );
}
