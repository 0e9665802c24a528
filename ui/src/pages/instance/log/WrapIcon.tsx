// Lines that are broken at the edge; no icon of the set says it.
import Icon from "@ant-design/icons";

export function WrapIcon() {
  return <Icon component={Drawn} aria-hidden />;
}

function Drawn() {
  return (
    <svg width="1em" height="1em" viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.4" aria-hidden>
      <path d="M2 3.5h12M2 8h9.5a2.5 2.5 0 0 1 0 5H8M2 12.9h3M9.8 11l-2 2 2 2" />
    </svg>
  );
}
