// Where the keys go when a dialog opens. React's autoFocus comes too early: the dialog is not to be seen yet.
export function focusOn(id: string): (open: boolean) => void {
  return (open) => {
    if (open) document.getElementById(id)?.focus();
  };
}
