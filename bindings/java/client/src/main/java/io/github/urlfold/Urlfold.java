package io.github.urlfold;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Normal forms and keys of URLs, by the program urlfold.
 *
 * <pre>{@code
 * try (Urlfold urlfold = new Urlfold("--profile", "crawler")) {
 *   urlfold.normalize("HTTP://Example.com:80/%7euser");   // http://example.com/~user
 *   urlfold.keys(urls);
 * }
 * }</pre>
 *
 * <p>The first call starts the program, which is that of the system property {@code
 * urlfold.program}, of the environment variable {@code URLFOLD}, or {@code urlfold} in the PATH.
 * Threads take turns. If the program ends in the middle of a call, the client starts it again and
 * repeats the question; after three failures it throws an {@link UrlfoldException}. Options that
 * are not valid are an {@link IllegalArgumentException}.
 *
 * <p>A URL that cannot be parsed, an empty one and null have neither a normal form nor a key: they
 * give null. A surrogate without its other half counts as U+FFFD.
 */
public final class Urlfold implements AutoCloseable {
  /** The URLs in one question, and the characters of their text. The program keeps its answers. */
  private static final int BLOCK = 16384;

  private static final int BLOCK_TEXT = 4 << 20;

  private final Coprocess norms;
  private final Coprocess keys;

  /** Makes a client that passes options to the program, such as {@code --key fetch}. */
  public Urlfold(String... options) {
    norms = new Coprocess("norm", options);
    keys = new Coprocess("key", options);
  }

  /** Returns the normal form of a URL, or null. */
  public String normalize(String url) {
    return normalize(Collections.singletonList(url)).get(0);
  }

  /** Returns the key of a URL, 32 hexadecimal digits, or null. */
  public String key(String url) {
    return keys(Collections.singletonList(url)).get(0);
  }

  /** Returns the normal forms of URLs, in the same order. */
  public List<String> normalize(List<String> urls) {
    return ask(norms, urls);
  }

  /** Returns the keys of URLs, in the same order. */
  public List<String> keys(List<String> urls) {
    return ask(keys, urls);
  }

  /** Ends the processes. The next call starts others. */
  @Override
  public void close() {
    norms.close();
    keys.close();
  }

  private static List<String> ask(Coprocess process, List<String> urls) {
    List<String> answers = new ArrayList<>(urls.size());
    StringBuilder rows = new StringBuilder();
    int count = 0;
    for (String url : urls) {
      Rows.append(rows, url);
      if (++count == BLOCK || rows.length() >= BLOCK_TEXT) {
        answers.addAll(process.ask(rows.toString(), count));
        rows.setLength(0);
        count = 0;
      }
    }
    if (count > 0) {
      answers.addAll(process.ask(rows.toString(), count));
    }
    return answers;
  }
}
