/** Seats that are left of all, in this order whatever the language: `33 / 45`. */
export const Seats = ({ left, of }: { left: number; of: number }) => (
  <bdi className="ltr numbers">{`${String(left)} / ${String(of)}`}</bdi>
);
