"""What rules say of a record: literals, rules, their text, and the candidates to choose from."""
