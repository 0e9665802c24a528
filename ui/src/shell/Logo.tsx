export function Logo() {
  return (
    <div className="logo">
      <svg
        viewBox="0 0 24 24"
        width="22"
        height="22"
        fill="none"
        stroke="currentColor"
        strokeWidth="2.4"
        strokeLinecap="round"
        aria-hidden="true"
      >
        <circle cx="12" cy="12" r="9.6" />
        <path d="M12 6v6l4 2.4" />
      </svg>
      <span>Hourhand</span>
    </div>
  );
}
