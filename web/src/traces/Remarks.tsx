/** What was not recorded, and why. */
export function Remarks({ remarks }: { remarks: string[] }) {
  if (!remarks.length) return null;
  return (
    <ul className="remarks" aria-label="Remarks">
      {remarks.map((remark) => (
        <li key={remark}>{remark}</li>
      ))}
    </ul>
  );
}
