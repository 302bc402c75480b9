/** An id for people to recognise; the whole one is copied. Ids follow time, so that their ends tell them apart. */
export const shortId = (id: string) => `…${id.slice(-8)}`;

export const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
