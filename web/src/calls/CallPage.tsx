import { usePathParameter } from "../ui/address";
import { CallDetail } from "./CallDetail";
import "./calls.css";

/** One call, alone. */
export function CallPage() {
  const id = usePathParameter("id");
  return (
    <div className="call-page">
      <CallDetail key={id} id={id} />
    </div>
  );
}
