// A field's two labels stand beside it.

export default function labels(properties) {
  return Object.keys(properties).flatMap((name) => {
    const [, field, language] = /^(\w+)_label_(\w+)$/.exec(name) ?? [];
    if (field === undefined) return [];

    const problems = [];
    if (properties[name].type !== 'string') problems.push({ message: `${name} is not a string` });
    if (language !== 'ar' && language !== 'en') problems.push({ message: `${name}: the languages are ar and en` });
    // status_label_* of a financial record labels its balance_status; ui_label_* a payment's state in words of
    // its own.
    const labelled = field === 'ui' || Object.keys(properties).some((other) => other === field || other.endsWith(`_${field}`));
    if (!labelled) problems.push({ message: `${name} labels nothing: there is no ${field}` });

    const other = `${field}_label_${language === 'ar' ? 'en' : 'ar'}`;
    if (!(other in properties)) problems.push({ message: `${name} without ${other}` });

    return problems;
  });
}
