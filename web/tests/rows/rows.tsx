/** The list of the page with a million rows, for the benchmark. It is no part of the page. */
import { createRoot } from "react-dom/client";

import "../../src/style/base.css";
import "../../src/style/parts.css";
import { formatCount } from "../../src/ui/format";
import { VirtualList } from "../../src/ui/VirtualList";

const count = Number(new URLSearchParams(location.search).get("rows") ?? 1_000_000);

function Row({ index }: { index: number }) {
  return (
    <>
      <time>{formatCount(index)}</time>
      <span className="mono cut grow">Shop.price(item={index % 17})</span>
      <span className="status success">success</span>
      <span className="soft mono">{((index * 7919) % 1000) / 100} ms</span>
    </>
  );
}

createRoot(document.getElementById("root") as HTMLElement).render(
  <main className="stacked-view">
    <section className="panel fill">
      <VirtualList label="Rows" count={count} renderRow={(index) => <Row index={index} />} />
    </section>
  </main>,
);
