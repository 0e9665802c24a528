// Texts of the server, in which `what is meant to the letter` stands between backquotes.
export function Quoted({ text }: { text: string }) {
  return text.split("`").map((part, number) => (number % 2 === 1 ? <code key={number}>{part}</code> : part));
}
