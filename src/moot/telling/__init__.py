"""How a session is rendered for people, on any medium. The flows define the text of their facts."""
