"""Store: the verbs, one module per protocol of the contract, which says what each verb promises."""
