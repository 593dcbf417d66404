package io.github.urlfold;

import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A process of urlfold with {@code --lock-step}, which is started again if it ends. */
final class Coprocess {
  /** How often a question is asked. */
  private static final int TRIES = 3;

  /** The exit code of urlfold for options that are not valid. */
  private static final int USAGE = 2;

  private final List<String> command = new ArrayList<>();
  private Process process;
  private BufferedReader answers;
  private Path messages; // what the process writes to stderr

  Coprocess(String field, String... options) {
    String program = System.getProperty("urlfold.program", System.getenv().getOrDefault("URLFOLD", "urlfold"));
    command.addAll(List.of(program, "--lock-step", "-f", "tsv", "-r", "tsv", "--fields", field));
    command.addAll(List.of(options));
  }

  /** Returns the values of the answers to rows. */
  synchronized List<String> ask(String rows, int count) {
    ByteBuffer question = encode(rows);
    for (int attempt = 1; ; attempt++) {
      try {
        start();
        return converse(question, count);
      } catch (IOException | RuntimeException e) {
        String reason = end();
        if (attempt == TRIES || e instanceof RuntimeException) {
          String last = reason.isEmpty() ? e.getMessage() : reason;
          throw new UrlfoldException("urlfold ended " + attempt + " times without an answer: " + last, e);
        }
      }
    }
  }

  /** Ends the process. */
  synchronized void close() {
    end();
  }

  /** The process, for tests. */
  synchronized Process process() {
    return process;
  }

  private List<String> converse(ByteBuffer question, int count) throws IOException {
    OutputStream questions = process.getOutputStream();
    questions.write(question.array(), 0, question.limit());
    questions.flush();
    List<String> values = new ArrayList<>(count);
    while (values.size() < count) {
      String row = answers.readLine();
      if (row == null) {
        throw new EOFException("the program ended");
      }
      values.add(Rows.value(row));
    }
    return values;
  }

  private void start() throws IOException {
    if (process != null) {
      return;
    }
    messages = Files.createTempFile("urlfold", ".log");
    process = new ProcessBuilder(command).redirectError(messages.toFile()).start();
    answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8), 1 << 16);
  }

  /** Ends the process, and returns its messages. Throws if it does not accept its options. */
  private String end() {
    Process ended = process;
    process = null;
    String text = "";
    try {
      if (ended != null) {
        try {
          ended.getOutputStream().close();
        } catch (IOException e) {
          // The process has closed its end.
        }
        ended.getInputStream().close();
        int code = ended.waitFor();
        text = Files.readString(messages).trim();
        if (code == USAGE) {
          throw new IllegalArgumentException(text);
        }
      }
    } catch (IOException e) {
      text = e.getMessage();
    } catch (InterruptedException e) {
      ended.destroyForcibly();
      Thread.currentThread().interrupt();
    } finally {
      if (messages != null) {
        messages.toFile().delete();
        messages = null;
      }
    }
    return text;
  }

  private static ByteBuffer encode(String rows) {
    CharsetEncoder encoder = StandardCharsets.UTF_8.newEncoder();
    encoder.onMalformedInput(CodingErrorAction.REPLACE).replaceWith(new byte[] {(byte) 0xef, (byte) 0xbf, (byte) 0xbd});
    ByteBuffer bytes = ByteBuffer.allocate(3 * rows.length()); // at most three for each char
    encoder.encode(CharBuffer.wrap(rows), bytes, true);
    return bytes.flip();
  }
}
