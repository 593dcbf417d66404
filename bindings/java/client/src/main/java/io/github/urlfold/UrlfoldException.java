package io.github.urlfold;

/** The program ended without an answer, or cannot be started. The message has its last lines. */
public final class UrlfoldException extends RuntimeException {
  private static final long serialVersionUID = 1;

  UrlfoldException(String message, Throwable cause) {
    super(message, cause);
  }
}
