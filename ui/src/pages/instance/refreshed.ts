/** What is fetched again when something was done to an instance. */
export const REFRESHED = ["/api/v1/instances", "/api/v1/execution-logs"];
