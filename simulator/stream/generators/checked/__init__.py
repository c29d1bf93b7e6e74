"""Numbers with check digits or of a numbering plan: accounts, articles, cards, telephones."""
