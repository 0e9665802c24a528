// What Hourhand itself declares is run and changed by nobody else.
export function isBuiltIn({ managed_by }: { managed_by?: string | null }): boolean {
  return managed_by?.startsWith("built-in:") ?? false;
}
